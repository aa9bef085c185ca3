import type { JsonObject } from '../schema/json.ts';
import { nameForModel, schemaForModel } from '../schema/model-tool.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import type { InferenceSink } from './model.ts';

/** Maps the tool names of the model's calls, which are the sent names, back to tool ids. */
export function withToolIds(sink: InferenceSink, tools: readonly ToolDescriptor[]): InferenceSink {
  const ids = new Map<string, string>();
  for (const { id } of tools) if (nameForModel(id) !== id) ids.set(nameForModel(id), id);
  if (ids.size === 0) return sink;
  return {
    ...sink,
    toolStart: (call, name) => sink.toolStart(call, ids.get(name) ?? name),
    ...(sink.toolCancel && {
      toolCancel: (call, name, reason) => sink.toolCancel?.(call, ids.get(name) ?? name, reason),
    }),
  };
}

export type SentTool = { name: string; description: string; parameters: JsonObject };

/**
 * Converts tools to the form that every provider accepts. Providers reject duplicate names, so only the first tool of a
 * name is sent.
 */
export function toolsToSend(tools: readonly ToolDescriptor[]): SentTool[] {
  const sent = new Map<string, SentTool>();
  for (const { id, description, parameters } of tools) {
    const name = nameForModel(id);
    if (sent.has(name)) continue;
    const fitted = schemaForModel(parameters);
    sent.set(name, {
      name,
      description: description.toWellFormed(),
      // A client may declare a tool with a schema that no provider accepts; it receives the arguments as the model
      // wrote them.
      parameters: 'schema' in fitted ? fitted.schema : { type: 'object', properties: {} },
    });
  }
  return [...sent.values()];
}
