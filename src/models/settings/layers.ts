import { isObject } from '../../schema/endpoint.ts';
import type { JsonObject } from '../../schema/json.ts';
import type { ModelSpec } from '../../schema/model.ts';
import { MODEL_SETTINGS, modelSettingsOf, type ToolChoice } from '../../schema/model-settings.ts';
import type { InferenceRequest, Model } from '../model.ts';

/**
 * The settings of one call: those of the run over those of the agent over those of the model that is called. A pool
 * adds the settings of the member that it calls, so each member keeps its own defaults.
 */

type Settings = InferenceRequest['overrides'];

/** A later layer replaces an earlier one field by field; null and absent are unset. Provider options are merged. */
export function layered(...layers: readonly Settings[]): Settings {
  const merged: Settings = {};
  for (const layer of layers) {
    for (const name of ['upstream_model', ...MODEL_SETTINGS] as const) {
      const value = layer[name];
      if (value == null) continue;
      const before = name === 'provider_options' ? merged.provider_options : undefined;
      // The value is that of the same field in another object of the same type.
      Object.assign(merged, { [name]: before ? mergedOptions(before, layer.provider_options ?? {}) : value });
    }
  }
  return merged;
}

/** Per key of the options and field of the body. */
function mergedOptions(before: JsonObject, options: JsonObject): JsonObject {
  const keys = new Set([...Object.keys(before), ...Object.keys(options)]);
  return Object.fromEntries(
    Array.from(keys, (key) => {
      const [own, over] = [before[key], options[key]];
      return [key, isObject(own) && isObject(over) ? { ...own, ...over } : (over ?? own ?? null)];
    }),
  );
}

/** The model with the settings of its entry below those of each request. */
export function withEntrySettings(model: Model, spec: ModelSpec): Model {
  const own = modelSettingsOf(spec);
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

/** For a provider that does not report what it sends. */
function sentAsGiven({ upstream_model: _, ...settings }: Settings): JsonObject {
  // Settings are JSON by their schema.
  return settings as JsonObject;
}

/** A forced call holds for the first answer to an input only: forced again after its results, a run would not end. */
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
