import { ModelError } from '../../src/models/errors.ts';
import type { Provider } from '../../src/models/model.ts';

/**
 * A model whose current and future completions wait until the test releases them. With `asksFirst` it first calls that
 * tool, once per thread.
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
    /** Releases all waiting completions, or this many of them. */
    go(count = waiting.size): void {
      for (const each of [...waiting].slice(0, count)) each();
    },
    /** Resolves when exactly this many are waiting. */
    async until(count: number): Promise<void> {
      while (waiting.size !== count) await new Promise((resolve) => setImmediate(resolve));
    },
  };
};
