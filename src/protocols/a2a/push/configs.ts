import type { Makers } from '../../../identity/makers.ts';
import type { Accept } from '../../../schema/idempotency.ts';
import { taskAgentOf } from '../../../schema/task-state.ts';
import type { PushConfigRow, PushPlace, Store } from '../../../store/index.ts';
import { type AccessDeps, type Asker, taskFor } from '../access.ts';
import { noPush, pushConfigNotFound } from '../errors.ts';
import { findSelector } from '../selector.ts';
import type { PushConfig } from './config.ts';
import { type Push, shownConfig } from './push.ts';

/**
 * Manages the push notification configs of a task (a2a.md 11.1). A tenant has access to its own configs; without a
 * tenant, all configs of the task can be read and removed.
 */

export type PushConfigDeps = AccessDeps & {
  store: Pick<Store, 'pushConfigs'>;
  push: Pick<Push, 'check' | 'add' | 'remove' | 'isEnded'>;
  makers: Pick<Makers, 'of'>;
  enabled: boolean;
};

type ConfigPage = { configs: PushConfig[]; next: PushPlace | undefined };

/** @throws A2aError 400, 404 */
export const addConfig = async (
  deps: PushConfigDeps,
  asker: Asker,
  task_id: string,
  { body, keyed }: { body: unknown; keyed: Accept<PushConfig> | undefined },
): Promise<PushConfig> => {
  checkEnabled(deps);
  const { run, scope } = taskFor(deps, asker, task_id, 'write');
  // A config would outlive the right of another user on the thread.
  deps.access.checkSharing(asker.principal, { scope, id: run.thread_id });
  const agent = taskAgentOf(run);
  const selected = findSelector(body);
  const tenant = asker.tenant ?? (selected === agent ? selected : undefined);
  const config = deps.push.check(body, { task_id, tenant });
  await deps.push.add(scope, config, {
    maker: deps.makers.of(asker.principal),
    ...(keyed && { keyed }),
  });
  return config;
};

/** @throws A2aError 400, 404 */
export const listConfigs = (
  deps: PushConfigDeps,
  asker: Asker,
  task_id: string,
  { size, after }: { size: number; after: PushPlace | undefined },
): ConfigPage => {
  checkEnabled(deps);
  const { scope } = taskFor(deps, asker, task_id, 'read');
  const { tenant } = asker;
  const found: PushConfigRow[] = [];
  for (const config of deps.store.pushConfigs.list(scope, task_id, after)) {
    if ((tenant !== undefined && config.tenant !== tenant) || deps.push.isEnded(config)) continue;
    found.push(config);
    if (found.length > size) break;
  }
  const shown = found.slice(0, size);
  return { configs: shown.map(shownConfig), next: found.length > size ? shown.at(-1) : undefined };
};

/** @throws A2aError 400, 404 */
export const readConfig = (deps: PushConfigDeps, asker: Asker, task_id: string, id: string): PushConfig => {
  const configs = configsFor(deps, asker, { task_id, id, right: 'read' });
  const config = configs.find(({ tenant }) => tenant === undefined) ?? configs[0];
  if (!config) throw pushConfigNotFound(task_id, id);
  return shownConfig(config);
};

/** Returns the config of an earlier request. @throws A2aError 404 */
export const createdConfig = (
  deps: PushConfigDeps,
  asker: Asker,
  { task_id, id, tenant }: { task_id: string; id: string; tenant?: string | undefined },
): PushConfig => {
  const configs = configsFor(deps, asker, { task_id, id, right: 'read' });
  const config = configs.find((each) => each.tenant === tenant);
  if (!config) throw pushConfigNotFound(task_id, id);
  return shownConfig(config);
};

/** Does nothing if the config does not exist. @throws A2aError 400, 404 */
export const removeConfig = async (
  deps: PushConfigDeps,
  asker: Asker,
  task_id: string,
  id: string,
): Promise<void> => {
  const configs = configsFor(deps, asker, { task_id, id, right: 'write' });
  if (configs.length > 0) await deps.push.remove(configs);
};

const checkEnabled = ({ enabled }: PushConfigDeps): void => {
  if (!enabled) throw noPush();
};

const configsFor = (
  deps: PushConfigDeps,
  asker: Asker,
  { task_id, id, right }: { task_id: string; id: string; right: 'read' | 'write' },
): PushConfigRow[] => {
  checkEnabled(deps);
  const { scope } = taskFor(deps, asker, task_id, right);
  const { tenant } = asker;
  const { pushConfigs } = deps.store;
  const own = tenant === undefined ? undefined : pushConfigs.get({ scope, task_id, id, tenant });
  const found = tenant === undefined ? pushConfigs.withId(scope, task_id, id) : own ? [own] : [];
  return found.filter((config) => !deps.push.isEnded(config));
};
