import { createAtom } from '@xstate/store';
import { TEST_AGENTS } from '../../schema/test-agents.ts';
import { type Meta, sourceState } from './meta.ts';
import { useResource } from './queries.ts';
import { metaOf } from './records.ts';
import { KEYS, onKey, readKey, writeKey } from './storage.ts';
import { useAtom } from './use-atom.ts';

/** Demo agents that exist for tests: lists and selections leave them out unless the user asks for them. */

const asShown = (stored: string | null): boolean => stored === '1';

export const showsTestAgents = createAtom(asShown(readKey(KEYS.testAgents)));

export const showTestAgents = (isShown: boolean): void => {
  writeKey(KEYS.testAgents, isShown ? '1' : null);
  showsTestAgents.set(isShown);
};

onKey(KEYS.testAgents, (value) => showsTestAgents.set(asShown(value)));

const IDS: ReadonlySet<string> = new Set(TEST_AGENTS);

/** An agent that a user created or changed is never one, whatever its id. */
export const isTestAgent = (id: string, meta: Meta | undefined): boolean =>
  IDS.has(id) && (meta === undefined || sourceState(meta) === 'builtin');

const META = metaOf('agents');

/** @returns whether selections offer the agent with an id */
export const useIsOffered = (): ((id: string) => boolean) => {
  const meta = useResource(META).data;
  const isShown = useAtom(showsTestAgents);
  return (id) => isShown || !isTestAgent(id, meta?.get(id));
};
