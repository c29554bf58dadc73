import { Component, type ReactNode } from "react";
import { ProblemNote } from "../ui/ProblemNote";

interface State {
  fault: Error | null;
}

/** Shows the error of a page that crashes; the rest of the dashboard keeps working. */
export class FaultBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { fault: null };

  static getDerivedStateFromError(fault: Error): State {
    return { fault };
  }

  override render() {
    const { fault } = this.state;
    if (!fault) return this.props.children;
    return <ProblemNote error={fault} onRetry={() => window.location.reload()} />;
  }
}
