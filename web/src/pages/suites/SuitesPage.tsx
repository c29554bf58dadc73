import { Route, Switch } from "wouter";
import { NotFoundPage } from "../../app/NotFoundPage";
import { SuiteList } from "./SuiteList";
import { SuiteView } from "./SuiteView";

/** All suites, or one of them. */
export default function SuitesPage() {
  return (
    <Switch>
      <Route path="/suites/:suite">
        {({ suite }) => <SuiteView key={suite} suite={decoded(suite)} />}
      </Route>
      <Route path="/suites" component={SuiteList} />
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
