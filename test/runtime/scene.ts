import { ModelError } from '../../src/models/errors.ts';
import type { Provider } from '../../src/models/model.ts';

/** A model whose answers wait until the test lets them go; those of the future wait as well. */
export const createStage = () => {
  const waiting = new Set<() => void>();
  const provider: Provider = {
    id: 'stage',
    model: ({ id }) => ({
      id,
      provider: 'stage',
      upstream: id,
      stream: ({ messages }, sink, signal) =>
        new Promise((resolve, reject) => {
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
