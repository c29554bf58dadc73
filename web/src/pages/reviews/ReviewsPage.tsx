import { Route, Switch } from "wouter";
import { NotFoundPage } from "../../app/NotFoundPage";
import { QueueView } from "./QueueView";
import { ReviewView } from "./ReviewView";

/** The queue, or one review of it. */
export default function ReviewsPage() {
  return (
    <Switch>
      <Route path="/reviews/:reviewId">
        {({ reviewId }) => <ReviewView key={reviewId} reviewId={reviewId} />}
      </Route>
      <Route path="/reviews" component={QueueView} />
      <Route component={NotFoundPage} />
    </Switch>
  );
}
