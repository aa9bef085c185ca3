import type { App } from '../app.ts';
import type { AppInput } from '../app-input.ts';
import { unknownVariables } from '../settings.ts';

/** Starts the service and stops it gracefully on SIGINT or SIGTERM; a second signal ends it at once. */
export const runUntilSignal = async (input: AppInput): Promise<App> => {
  // What serves is loaded by the commands that serve.
  const { openCommandLog } = await import('./command-log.ts');
  const { log, isTold } = await openCommandLog(input.settings);
  for (const problem of unknownVariables(process.env)) log.warn(problem);
  const { startApp } = await import('../app.ts');
  const app = await startApp({ ...input, log });
  const say = (words: string): void => {
    if (!isTold) process.stdout.write(`Troupe: ${words}\n`);
  };
  let stopping = false;
  const stop = async (): Promise<void> => {
    if (stopping) {
      log.warn(LEFT);
      say(LEFT);
      process.exit(1);
    }
    stopping = true;
    log.info('stopping');
    say('stopping');
    await app.stop((runs) => say(`waiting for ${runs === 1 ? '1 run' : `${runs} runs`}, again to stop now`));
    say('stopped');
    process.exit(0);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return app;
};

const LEFT = 'stopped, without waiting: the next start goes on with what was running';
