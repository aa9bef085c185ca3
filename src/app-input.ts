import type { ScopeProvider } from './http/scope.ts';
import type { Provider } from './models/model.ts';
import type { Plugin } from './plugins/plugin.ts';
import type { Records } from './registry/records.ts';
import type { Clock, Ids } from './schema/clock.ts';
import type { Settings } from './settings.ts';
import type { Log } from './telemetry/log.ts';
import type { Tool } from './tools/tool.ts';
import type { Redact } from './traces/payload.ts';

/** What a service is started with. */

/** What only the program can give that embeds the service. */
export type Embedding = {
  /** Where providers with `allow_env_credentials` find their keys. */
  env?: Record<string, string | undefined>;
  tools?: readonly Tool[];
  /** Agents list them by id, beside those that are built in. */
  plugins?: readonly Plugin[];
  /** Gives each request its scope; threads and runs of one scope do not exist in another. Default: `scope_id`. */
  resolveScope?: ScopeProvider;
  /** `false` leaves the event log out, and with it the event routes. */
  eventLog?: boolean;
  /** What traces show of tools and models, before the redaction of the service. */
  redactTraces?: Redact;
  /** `false`: no port is taken, and requests come through `fetch` only. */
  listen?: boolean;
  clock?: Clock;
  ids?: Ids;
};

export type AppInput = Embedding & {
  settings: Settings;
  /** Records that go over the seeded ones and under those of the settings file. */
  records?: Records;
  providers?: readonly Provider[];
  log?: Log;
  /** Where the built console is, if not beside the service. */
  consoleFolder?: string;
};
