import { Route, Switch } from "wouter";
import { NotFoundPage } from "../../app/NotFoundPage";
import { ContentView } from "./ContentView";
import { isCid } from "./cids";
import { MarketView } from "./MarketView";
import { TaskView } from "./TaskView";

/** The market, one of its tasks, or content that they refer to. */
export default function MarketPage() {
  return (
    <Switch>
      <Route path="/market/tasks/:taskId">
        {({ taskId }) => <TaskView key={taskId} taskId={Number(taskId)} />}
      </Route>
      <Route path="/market/content/:cid">
        {({ cid }) => (isCid(cid) ? <ContentView key={cid} cid={cid} /> : <NotFoundPage />)}
      </Route>
      <Route path="/market" component={MarketView} />
      <Route component={NotFoundPage} />
    </Switch>
  );
}
