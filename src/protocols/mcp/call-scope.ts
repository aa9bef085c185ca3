import { ownPartition } from '../../identity/access/own.ts';
import { isObject } from '../../schema/endpoint.ts';
import { grantOf } from '../../schema/grants.ts';
import { Forbidden } from '../../schema/outcome.ts';
import { isOutOfScope, type Need, type Principal } from '../../schema/principal.ts';
import type { Run } from '../../schema/run.ts';
import type { Store } from '../../store/index.ts';
import { questionedIn } from './asking.ts';
import type { RpcCall } from './provider.ts';

/**
 * Determines which OAuth scopes a call needs that its access token lacks, although its user has the rights
 * (identity.md 3.7). The client then asks its identity provider for all of them at once.
 */

type ScopeDeps = {
  store: { runs: Pick<Store['runs'], 'get'> };
  published(): { readonly ids: readonly string[] };
};

/** @throws Forbidden with the missing scopes */
export const checkScope = (deps: ScopeDeps, principal: Principal, { method, params }: RpcCall): void => {
  if (principal.unlimited === undefined || method !== 'tools/call' || !isObject(params)) return;
  const { name } = params;
  if (typeof name !== 'string' || !deps.published().ids.includes(name)) return;
  const needs: readonly Need[] = [['invoke', name], ...decisionNeeds(deps, principal, params)];
  const missing = needs.filter((need) => isOutOfScope(principal, need)).map((need) => grantOf(...need));
  if (missing.length === 0) return;
  const scopes = [...new Set(missing)];
  throw new Forbidden(`the access token lacks the scope ${scopes.join(' ')}`, {
    code: 'forbidden',
    details: { needs: scopes },
    scopes,
  });
};

/** The grants for the decisions in a call that continues after a question. */
const decisionNeeds = (
  { store }: ScopeDeps,
  principal: Principal,
  { requestState, inputResponses }: Readonly<Record<string, unknown>>,
): Need[] => {
  const place = questionedIn(requestState);
  if (!place || !isObject(inputResponses)) return [];
  const run = store.runs.get(ownPartition(principal), place.run_id);
  if (run?.thread_id !== place.thread_id) return [];
  return askedOf(run, Object.keys(inputResponses)).map(
    ({ agent_id, tool }): Need => ['decide', agent_id, tool],
  );
};

/** The permissions that tickets ask for, including those of delegates. */
const askedOf = (
  { agent_id, waiting }: Run,
  answered: readonly string[],
): { agent_id: string; tool: string }[] =>
  (waiting?.tickets ?? [])
    .filter(({ ticket_id }) => answered.includes(ticket_id))
    .flatMap(({ tool_name, resume_mode, tickets }) => tickets ?? [{ agent_id, tool: tool_name, resume_mode }])
    .filter(({ resume_mode }) => resume_mode === 'replay_tool_call');
