import type { Records } from '../configuration/records.ts';
import type { PrincipalProvider } from '../identity/authenticator.ts';
import type { ScopeProvider } from '../identity/scope.ts';
import type { Provider } from '../models/model.ts';
import type { Log } from '../observability/log.ts';
import type { Redact } from '../observability/traces/payload.ts';
import type { Plugin } from '../plugins/plugin.ts';
import type { Clock, Ids } from '../schema/clock.ts';
import type { Settings } from '../settings/index.ts';
import type { Tool } from '../tools/tool.ts';

/** The input of `startApp`. */

/** Options that only an embedding program can set. */
export type Embedding = {
  /** Environment from which providers with `allow_env_credentials` read their keys. */
  env?: Record<string, string | undefined>;
  tools?: readonly Tool[];
  /** Added to the built-in plugins; agents list them by id. */
  plugins?: readonly Plugin[];
  /** Assigns a scope to each request; threads and runs of one scope are invisible in others. Default: `scope_id`. */
  resolveScope?: ScopeProvider;
  /** Judges requests for a program with separate identities, before their credentials are judged. */
  authenticate?: PrincipalProvider;
  /** `false` disables the event log and its routes. */
  eventLog?: boolean;
  /** Redacts tool and model data in traces; applied before the redaction of the service. */
  redactTraces?: Redact;
  /** `false`: no port is opened; requests are accepted through `fetch` only. */
  listen?: boolean;
  clock?: Clock;
  ids?: Ids;
};

export type AppInput = Embedding & {
  settings: Settings;
  /** They override seeded records and are overridden by the settings file. */
  records?: Records;
  providers?: readonly Provider[];
  log?: Log;
  /** Ends a start that waits for the database. */
  signal?: AbortSignal;
  /** Folder of the built console; default: the one of the package. */
  consoleFolder?: string;
  /** Folder of the built manual; default: the one of the package. */
  manualFolder?: string;
};
