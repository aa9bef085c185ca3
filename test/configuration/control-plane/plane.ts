import type { Test } from 'tap';
import { monotonicFactory } from 'ulid';
import { z } from 'zod';
import { createIds } from '../../../src/composition/ids.ts';
import { type ConfigDeps, createConfigService } from '../../../src/configuration/control-plane/service.ts';
import { createTransport } from '../../../src/models/transport.ts';
import { definePlugin } from '../../../src/plugins/define.ts';
import { permissionPlugin } from '../../../src/plugins/permission/plugin.ts';
import type { Plugin } from '../../../src/plugins/plugin.ts';
import { managedSkill } from '../../../src/plugins/skills/skill.ts';
import type { SkillSet } from '../../../src/plugins/skills/source.ts';
import type { AgentInput } from '../../../src/schema/agent.ts';
import type { AuditEvent } from '../../../src/schema/audit-event.ts';
import { type EntriesInput, entriesFrom } from '../../../src/settings/index.ts';
import { openStore, type Store } from '../../../src/store/index.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import type { Tool } from '../../../src/tools/tool.ts';
import { NO_SUB_AGENTS } from '../../tools/sub-agents.ts';
import { plainRoutes } from '../routes.ts';

/**
 * The configuration on a real store, without HTTP; a test may stop it and start the next one on the same data
 * directory.
 */

export const CALLER = { actor: 'tester', ip: '127.0.0.1', request_id: null };

export const toolOf = (id: string, description = `Does ${id}.`): Tool =>
  defineTool({ id, description, input: z.object({}), execute: () => ({ data: null }) });

const notes: Plugin = definePlugin({
  id: 'notes',
  section: { key: 'notes', schema: z.strictObject({ size: z.number().default(1) }), display_name: 'Notes' },
  create: () => ({ tools: [toolOf('take_note')] }),
});

export type PlaneOptions = {
  entries?: EntriesInput;
  tools?: readonly Tool[];
  skills?: SkillSet;
  version?: string;
  seeds?: boolean;
  audit?: Partial<ConfigDeps['audit']['settings']>;
  more?: Partial<Pick<ConfigDeps, 'mcp' | 'a2a' | 'refreshMs' | 'env' | 'localKind' | 'assistant' | 'clock'>>;
  plugins?: ConfigDeps['program']['plugins'];
  /** Replaces the store of the service. */
  through?: (store: Store) => Store;
  now?: () => number;
  log?: ConfigDeps['log'];
};

export type Plane = Awaited<ReturnType<typeof startPlane>>;

export const BASE = {
  providers: [{ id: 'p', adapter: 'scripted' }],
  models: [{ id: 'm', provider_id: 'p', upstream_model: 'up' }],
} satisfies EntriesInput;

export const greeting = managedSkill({
  id: 'greeting',
  name: 'greeting',
  description: 'Greets',
  instructions_md: 'Say hello.',
});

const open = async (dir: string, options: PlaneOptions) => {
  const store = await openStore({ dir, durability: 'process' });
  const warnings: string[] = [];
  const counts = { events: 0, failures: 0, pruned: 0 };
  const deps: ConfigDeps = {
    store: options.through?.(store) ?? store,
    clock: { now: options.now ?? Date.now },
    ids: createIds(),
    ulid: monotonicFactory(),
    log: options.log ?? { warn: (event) => warnings.push(event) },
    audit: {
      settings: { enabled: true, retention_days: 90, sweep_interval_secs: 3600, ...options.audit },
      observe: {
        event: () => {
          counts.events += 1;
        },
        failed: () => {
          counts.failures += 1;
        },
        pruned: (count) => {
          counts.pruned += count;
        },
      },
    },
    program: {
      version: options.version ?? '1.0.0',
      seeds: options.seeds ?? true,
      records: entriesFrom(options.entries ?? BASE),
      skills: options.skills ?? { skills: [greeting], broken: [] },
      tools: options.tools ?? [toolOf('look'), toolOf('write')],
      plugins: options.plugins ?? (() => [permissionPlugin, notes]),
      providers: [],
    },
    routes: plainRoutes,
    env: {},
    transport: createTransport(),
    subAgents: NO_SUB_AGENTS,
    ...options.more,
  };
  try {
    return { store, warnings, counts, ...(await createConfigService(deps)) };
  } catch (error) {
    await store.close();
    throw error;
  }
};

export const startPlane = async (t: Test, options: PlaneOptions = {}) => {
  const dir = t.testdir();
  let running = await open(dir, options);
  let closed = false;
  const stop = async (): Promise<void> => {
    if (closed) return;
    closed = true;
    running.close();
    await running.store.close();
  };
  t.teardown(stop);
  const agent = (id: string, fields: Partial<AgentInput> = {}) => ({ id, model_id: 'm', ...fields });
  return {
    agent,
    get service() {
      return running.service;
    },
    get live() {
      return running.live;
    },
    get store() {
      return running.store;
    },
    get warnings() {
      return running.warnings;
    },
    get counts() {
      return running.counts;
    },
    /** Events of the audit log, oldest first. */
    events: (resource?: string): AuditEvent[] =>
      running.service.audit.page({ limit: 1000, ...(resource && { resource }) }).items.reverse(),
    create: (namespace: string, body: object) => running.service.create(namespace, body, CALLER),
    put: (namespace: string, body: { id: string; [field: string]: unknown }) =>
      running.service.replace(namespace, body.id, body, CALLER),
    remove: (namespace: string, id: string, force = false) =>
      running.service.remove(namespace, id, force, CALLER),
    async restart(changes: PlaneOptions = {}) {
      await stop();
      running = await open(dir, { ...options, ...changes });
      closed = false;
    },
  };
};
