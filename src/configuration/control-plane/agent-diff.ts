import { createPatch } from 'rfc6902';
import type { AgentVersionDiff } from '../../schema/agent-version.ts';
import type { JsonObject } from '../../schema/endpoint.ts';

/** Compares two versions of an agent. Loaded with the first comparison, because a start needs no comparison. */
export const diffAgents = (from: JsonObject, to: JsonObject): AgentVersionDiff => createPatch(from, to);
