import { Component, type ReactNode } from "react";
import { ProblemNote } from "../ui/ProblemNote";

interface State {
  error: Error | null;
}

/** Shows the error of a page that crashes; the rest of the dashboard keeps working. */
export class ErrorBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return <ProblemNote error={error} onRetry={() => window.location.reload()} />;
  }
}
