import type { App } from '../app.ts';
import type { AppInput } from '../app-input.ts';
import { unknownVariables } from '../settings.ts';

/** Starts the service and stops it gracefully on SIGINT or SIGTERM; a second signal ends it at once. */
export const runUntilSignal = async (input: AppInput): Promise<App> => {
  // What serves is loaded by the commands that serve.
  const { createLog } = await import('../telemetry/log.ts');
  const log = createLog({ level: input.settings.log_level });
  for (const problem of unknownVariables(process.env)) log.warn(problem);
  const { startApp } = await import('../app.ts');
  const app = await startApp({ ...input, log });
  let stopping = false;
  const stop = async (): Promise<void> => {
    if (stopping) {
      say('stopped, without waiting: the next start goes on with what was running');
      process.exit(1);
    }
    stopping = true;
    say('stopping');
    await app.stop((runs) => say(`waiting for ${runs === 1 ? '1 run' : `${runs} runs`}, again to stop now`));
    say('stopped');
    process.exit(0);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return app;
};

const say = (words: string): boolean => process.stdout.write(`Troupe: ${words}\n`);
