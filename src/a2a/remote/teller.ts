import { isAtRest } from '../../../machines/a2a-task.ts';
import type { RemoteTurn } from '../../tools/remote-agent.ts';
import type { Mirror } from './mirror.ts';

/**
 * Tells a turn what becomes of its task.
 *
 * Guarantees: deltas of text are never taken back. Together they are the text of the outcome, unless the other side
 * changed its mind: where a text does not begin with what was told of it already, nothing more is told, and the
 * outcome alone has it. A snapshot is told when it says something new.
 */
export const createTeller = ({ onText, onSnapshot }: Pick<RemoteTurn, 'onText' | 'onSnapshot'>) => {
  let closed = false;
  let said = '';
  let last: string | undefined;

  const say = (text: string): void => {
    if (closed || text.length <= said.length || !text.startsWith(said)) return;
    const delta = text.slice(said.length);
    said = text;
    onText(delta);
  };

  /** While a task is at work, what its status says is about the work. */
  const grown = (mirror: Mirror): void =>
    say(isAtRest(mirror.state()) ? mirror.words() : mirror.streamable());

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
    answered: say,
    /** From now on nothing is told. */
    close(): void {
      closed = true;
    },
  };
};
