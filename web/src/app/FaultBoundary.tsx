import { Component, type ReactNode } from "react";
import { ProblemNote } from "../ui/ProblemNote";

interface State {
  fault: Error | null;
}

/** A page that breaks says so and leaves the rest of the dashboard standing. */
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
