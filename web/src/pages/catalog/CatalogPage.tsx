import { Route, Switch } from "wouter";
import { NotFoundPage } from "../../app/NotFoundPage";
import { CatalogView } from "./CatalogView";
import { TestView } from "./TestView";

/** All tests, or one of them. */
export default function CatalogPage() {
  return (
    <Switch>
      <Route path="/catalog/tests/:testId">
        {({ testId }) => <TestView key={testId} testId={decoded(testId)} />}
      </Route>
      <Route path="/catalog" component={CatalogView} />
      <Route component={NotFoundPage} />
    </Switch>
  );
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
