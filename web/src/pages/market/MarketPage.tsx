import { Route, Switch } from "wouter";
import { MarketView } from "./MarketView";
import { TaskView } from "./TaskView";

/** The market, or one of its tasks. */
export default function MarketPage() {
  return (
    <Switch>
      <Route path="/market/tasks/:taskId">
        {({ taskId }) => <TaskView key={taskId} taskId={Number(taskId)} />}
      </Route>
      <Route component={MarketView} />
    </Switch>
  );
}
