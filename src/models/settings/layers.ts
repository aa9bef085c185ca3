import { isObject } from '../../schema/endpoint.ts';
import type { JsonObject } from '../../schema/json.ts';
import type { ModelSpec } from '../../schema/model.ts';
import { MODEL_SETTINGS } from '../../schema/model-setting-names.ts';
import { pickModelSettings, type ToolChoice } from '../../schema/model-settings.ts';
import type { InferenceRequest, Model } from '../model.ts';

/**
 * The settings of one call: those of the run override those of the agent, which override those of the called model. A
 * pool adds the settings of the member that it calls, so each member keeps its own defaults.
 */

type Settings = InferenceRequest['overrides'];

/** A later layer overrides an earlier one field by field; null and absent mean unset. Provider options are merged. */
export function layered(...layers: readonly Settings[]): Settings {
  const merged: Settings = {};
  for (const layer of layers) {
    for (const name of ['upstream_model', ...MODEL_SETTINGS] as const) {
      const value = layer[name];
      if (value == null) continue;
      const before = name === 'provider_options' ? merged.provider_options : undefined;
      // The value comes from the same field of another object of the same type.
      Object.assign(merged, { [name]: before ? mergedOptions(before, layer.provider_options ?? {}) : value });
    }
  }
  return merged;
}

/** Merges the options of each key field by field. */
function mergedOptions(before: JsonObject, options: JsonObject): JsonObject {
  const keys = new Set([...Object.keys(before), ...Object.keys(options)]);
  return Object.fromEntries(
    Array.from(keys, (key) => {
      const [own, over] = [before[key], options[key]];
      return [key, isObject(own) && isObject(over) ? { ...own, ...over } : (over ?? own ?? null)];
    }),
  );
}

/** Applies the settings of the model's entry below those of each request. */
export function withEntrySettings(model: Model, spec: ModelSpec): Model {
  const own = pickModelSettings(spec);
  return {
    ...model,
    stream(request, sink, signal) {
      const overrides = layered(own, request.overrides);
      const toolChoice = request.toolChoice ?? toolChoiceOf(overrides.tool_choice, request.messages);
      sink.sent?.({ settings: sentAsGiven(overrides), adjusted: [] });
      return model.stream({ ...request, overrides, ...(toolChoice && { toolChoice }) }, sink, signal);
    },
  };
}

/** Used for a provider that does not report the settings that it sends. */
function sentAsGiven({ upstream_model: _, ...settings }: Settings): JsonObject {
  // By their schema, settings are JSON.
  return settings as JsonObject;
}

/**
 * A forced call applies only to the first completion after an input; forcing it after its results would never let the
 * run end.
 */
function toolChoiceOf(
  choice: ToolChoice | null | undefined,
  messages: InferenceRequest['messages'],
): ToolChoice | undefined {
  if (choice == null) return undefined;
  const isForced = choice !== 'auto' && choice !== 'none';
  return isForced && hasCalled(messages) ? 'auto' : choice;
}

/** Whether the model has called a tool since the last input. */
function hasCalled(messages: InferenceRequest['messages']): boolean {
  const last = messages.findLastIndex(
    ({ role, visibility, tool_calls }) =>
      (role === 'user' && visibility !== 'internal') || (tool_calls !== undefined && tool_calls.length > 0),
  );
  return messages[last]?.role === 'assistant';
}
