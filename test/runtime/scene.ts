import { ModelError } from '../../src/models/errors.ts';
import type { Provider } from '../../src/models/model.ts';

/**
 * A model whose answers wait until the test lets them go; those of the future wait as well. With `asksFirst` it asks
 * for that tool, once a thread, before it answers.
 */
export const createStage = ({ asksFirst }: { asksFirst?: string } = {}) => {
  const waiting = new Set<() => void>();
  const provider: Provider = {
    id: 'stage',
    model: ({ id }) => ({
      id,
      provider: 'stage',
      upstream: id,
      stream: ({ messages }, sink, signal) =>
        new Promise((resolve, reject) => {
          if (asksFirst !== undefined && !messages.some(({ tool_calls }) => tool_calls)) {
            sink.toolStart(asksFirst, asksFirst);
            sink.toolEnd(asksFirst, '{}');
            return resolve({ stop: 'ToolUse' });
          }
          const said = messages.findLast(({ role }) => role === 'user')?.content[0];
          const go = (): void => {
            waiting.delete(go);
            sink.text(`answer to ${said?.type === 'text' ? said.text : ''}`);
            resolve({ stop: 'EndTurn' });
          };
          waiting.add(go);
          signal.addEventListener('abort', () => {
            waiting.delete(go);
            reject(new ModelError('cancelled', ''));
          });
        }),
    }),
  };
  return {
    provider,
    waiting: (): number => waiting.size,
    /** Those that wait now, or so many of them. */
    go(count = waiting.size): void {
      for (const each of [...waiting].slice(0, count)) each();
    },
    /** Resolves when so many wait at once. */
    async until(count: number): Promise<void> {
      while (waiting.size !== count) await new Promise((resolve) => setImmediate(resolve));
    },
  };
};
