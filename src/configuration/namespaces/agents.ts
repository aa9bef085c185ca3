import { AgentSpec } from '../../schema/agent.ts';
import { agentJson, parseAgent } from '../../schema/agent-json.ts';
import { LOCAL } from '../../schema/backend.ts';
import { isObject, type JsonObject } from '../../schema/endpoint.ts';
import { Invalid } from '../../schema/outcome.ts';
import { type Dropped, fillMarkers, findMarker, redact } from '../../schema/redaction/redact.ts';
import { applyAgentPatch, isPatchable, mergeOverrides } from '../agent-patch.ts';
import { checkAgent } from '../check.ts';
import { withoutEmptyAuth } from './auth.ts';
import { entrySchema } from './json-schema.ts';
import { type Namespace, PLAIN } from './namespace.ts';
import { checkAgentTokens } from './sendable.ts';

/**
 * Implements config.md 3.1 and 5.1. Agents are stored in canonical form, with the canonical name of the local backend.
 * Responses contain the name of the deployment instead, so that the setting can change.
 *
 * @param localKind setting `local_backend_kind`
 */
const SCHEMA = entrySchema('Agent', AgentSpec);

export const createAgentsNamespace = (localKind: string = LOCAL): Namespace => {
  const parse = (spec: JsonObject): AgentSpec => parseAgent(spec, { localKind });
  const patched = (base: JsonObject, overrides: JsonObject): JsonObject => {
    const spec = canonical(applyAgentPatch(parse(base), overrides, { localKind }));
    refuseMarker(spec, 'agent spec patch');
    return spec;
  };
  const shown = (spec: JsonObject): JsonObject => redact(withLocalKind(spec, localKind));
  const effective = (base: JsonObject, overrides: JsonObject = {}): JsonObject =>
    Object.keys(overrides).length === 0 ? base : patched(base, overrides);
  return {
    ...PLAIN,
    name: 'agents',
    schema: SCHEMA,
    prepare: (given, stored, dropped) => filled(given, stored, { dropped }),
    check: (given) => {
      const spec = parse(given);
      checkAgent(spec);
      const json = canonical(spec);
      refuseMarker(json, 'agent spec');
      checkAgentTokens(json);
      return json;
    },
    redact: shown,
    audit: shown,
    complete: ({ endpoint, model_id }) => {
      if (endpoint === undefined && model_id === '') {
        throw new Invalid("invalid agent spec: missing field 'model_id'");
      }
    },
    effective,
    overrides: {
      merge: (base, stored, body, dropped) => {
        const merged = mergeOverrides(
          parse(base),
          stored,
          withTokens(body, effective(base, stored), dropped),
        );
        checkAgentTokens(patched(base, merged));
        return merged;
      },
      without: (base, stored, field) => {
        if (!isPatchable(field)) throw new Invalid(`unknown override field: ${field}`);
        return mergeOverrides(parse(base), stored, { _clear: [field] });
      },
    },
  };
};

const canonical = (spec: AgentSpec): JsonObject => {
  const json: object = agentJson(spec);
  // The written form has no undefined members, so it is JSON.
  return json as JsonObject;
};

/** Replaces a marker for a token by the token of the agent. */
const withTokens = (body: unknown, agent: JsonObject, dropped: Dropped | undefined): unknown =>
  // Bodies are JSON.
  isObject(body) ? filled(body as JsonObject, agent, { isPatch: true, dropped }) : body;

const filled = (
  given: JsonObject,
  stored: JsonObject | undefined,
  { isPatch, dropped }: { isPatch?: boolean; dropped: Dropped | undefined },
): JsonObject => {
  if (!dropped) return fillMarkers(given, stored, { isPatch });
  // Both views of a remote agent contain the same token, which is reported once.
  const isRepeated = (path: string): boolean => isObject(given.endpoint) && path.startsWith('backend.');
  const report = (path: string): void => {
    if (!isRepeated(path)) dropped(path);
  };
  return withoutLostTokens(fillMarkers(given, stored, { isPatch, dropped: report }));
};

const withLocalKind = (spec: JsonObject, localKind: string): JsonObject =>
  isObject(spec.backend) && spec.backend.kind === LOCAL
    ? { ...spec, backend: { ...spec.backend, kind: localKind } }
    : spec;

/** Checks sections; tokens of endpoints have a separate error message. */
const refuseMarker = (spec: JsonObject, surface: string): void => {
  const marker = findMarker(spec);
  if (marker) {
    throw new Invalid(`invalid ${surface}: field '${marker.join('.')}' cannot be a redacted placeholder`);
  }
};

/** Both views of a remote agent contain the token. */
const withoutLostTokens = ({ endpoint, backend, ...rest }: JsonObject): JsonObject => ({
  ...rest,
  ...(endpoint !== undefined && { endpoint: withoutAuthIn(endpoint) }),
  ...(backend !== undefined && {
    backend:
      isJsonObject(backend) && backend.config !== undefined
        ? { ...backend, config: withoutAuthIn(backend.config) }
        : backend,
  }),
});

const withoutAuthIn = (place: JsonObject[string]): JsonObject[string] =>
  isJsonObject(place) ? withoutEmptyAuth(place) : place;

const isJsonObject = (value: JsonObject[string]): value is JsonObject => isObject(value);
