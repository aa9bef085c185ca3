import { isTerminalOrInterrupted } from '../../../machines/a2a-task.ts';
import type { RemoteTurn } from '../../tools/remote-agent.ts';
import type { Mirror } from './mirror.ts';

/**
 * Reports the progress of a task to its turn.
 *
 * Guarantees: text deltas are never revoked. Together they are the text of the outcome, unless the remote service
 * changed it: once a text does not begin with the reported one, no more deltas are reported, and only the outcome has
 * the text. A snapshot is reported only when it has changed.
 */
export const createProgressReporter = ({ onText, onSnapshot }: Pick<RemoteTurn, 'onText' | 'onSnapshot'>) => {
  let closed = false;
  let reported = '';
  let last: string | undefined;

  const reportText = (text: string): void => {
    if (closed || text.length <= reported.length || !text.startsWith(reported)) return;
    const delta = text.slice(reported.length);
    reported = text;
    onText(delta);
  };

  /** While a task is working, its status text describes progress. */
  const grown = (mirror: Mirror): void =>
    reportText(isTerminalOrInterrupted(mirror.state()) ? mirror.plainText() : mirror.streamable());

  return {
    grown,
    changed(mirror: Mirror): void {
      if (closed) return;
      const snapshot = mirror.snapshot();
      const now = JSON.stringify(snapshot);
      if (now !== last) {
        last = now;
        onSnapshot(snapshot);
      }
      grown(mirror);
    },
    answered: reportText,
    /** Stops all reports. */
    close(): void {
      closed = true;
    },
  };
};
