import type { App } from '../app.ts';
import type { AppInput } from '../composition/input.ts';
import type { MemberEnd } from '../composition/started.ts';
import type { Log } from '../observability/log.ts';
import { unknownVariables } from '../settings/index.ts';

export type Served = {
  readonly app: App;
  /**
   * Stops the service and starts it again with other code, on the same port. If the new code fails to start, the
   * previous code is started again; if both fail, nothing is served until the next replacement.
   * @throws the error of the start with the new code
   */
  replace(input: AppInput): Promise<void>;
};

/** Starts the service and stops it gracefully on SIGINT or SIGTERM; a second signal ends it at once. */
export async function serveUntilSignal(input: AppInput): Promise<Served> {
  // Only serving commands need these modules.
  const { openCommandLog } = await import('./command-log.ts');
  const { log, isTold, withoutStop } = await openCommandLog(input.settings);
  for (const problem of unknownVariables(process.env)) log.warn('settings.unknown_variable', { problem });
  const start = await createStart(log);
  let app: App | undefined;
  let working = input;
  let isServing = false;
  const starting = new AbortController();
  const use = async (input: AppInput): Promise<void> => {
    const started = await start({ ...input, signal: starting.signal });
    app = started;
    isServing = true;
    working = input;
    void started.ended.then(left);
  };
  let replacement: Promise<void> = Promise.resolve();
  const print = (text: string): void => {
    if (!isTold) process.stdout.write(`Troupe: ${text}\n`);
  };
  let stopping = false;
  const stop = async (code = 0): Promise<void> => {
    if (stopping) {
      log.warn('service.stopped_early');
      print(LEFT);
      process.exit(1);
    }
    stopping = true;
    log.info('service.stopping');
    print('stopping');
    starting.abort();
    await replacement;
    if (isServing) await app?.stop((runs) => print(waitingText(runs)));
    print('stopped');
    process.exit(code);
  };
  const left = async ({ state, reason }: MemberEnd): Promise<void> => {
    if (stopping) return;
    print(`this member has left its cluster: ${reason}`);
    await stop(state === 'refused' ? 1 : 0);
  };
  // Before the start, in which runs resume and requests are accepted: a stop waits for its end.
  process.on('SIGINT', () => void stop());
  process.on('SIGTERM', () => void stop());
  const started = use(input);
  replacement = started.catch(() => {});
  await started.catch((error) => (stopping ? never : Promise.reject(error)));

  const replace = async (next: AppInput): Promise<void> => {
    if (stopping) return;
    if (isServing) await withoutStop(async () => app?.stop());
    isServing = false;
    if (stopping) return;
    await use(next).catch(async (error) => {
      await use(working).catch((again) => log.error('service.restart_failed', { err: again }));
      throw error;
    });
  };
  return {
    get app() {
      if (!app) throw new Error('the service has not started');
      return app;
    },
    replace(next) {
      const done = replace(next);
      replacement = done.catch(() => {});
      return done;
    },
  };
}

/** Returns a function that starts the service, on the port of its first start. */
const createStart = async (log: Log): Promise<(input: AppInput) => Promise<App>> => {
  const { startApp } = await import('../app.ts');
  /** Configured addresses with the ports that the system chose for port 0. */
  const taken = new Map<string, string>();
  return async (input) => {
    const { http_addr: address } = input.settings;
    const settings = { ...input.settings, http_addr: taken.get(address) ?? address };
    const app = await startApp({ ...input, settings, log });
    if (app.url.startsWith('http:')) taken.set(address, new URL(app.url).host);
    return app;
  };
};

/** Like `serveUntilSignal`, for code that does not change. */
export const runUntilSignal = async (input: AppInput): Promise<App> => (await serveUntilSignal(input)).app;

const waitingText = (runs: number): string =>
  `waiting for ${runs === 1 ? '1 run' : `${runs} runs`}, again to stop now`;

/** A stop ends the process. */
const never = new Promise<never>(() => {});

const LEFT = 'stopped without waiting: the next start resumes the runs';
