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

/** Values and steps of patterns in all schemas of a request; a client may declare many tools with large ones. */
const MOST_TOGETHER = 20_000;

/**
 * Converts tools to the form that every provider accepts. Providers reject duplicate names, so only the first tool of a
 * name is sent.
 */
export function toolsToSend(tools: readonly ToolDescriptor[]): SentTool[] {
  const sent = new Map<string, SentTool>();
  let size = 0;
  for (const { id, description, parameters } of tools) {
    const name = nameForModel(id);
    if (sent.has(name)) continue;
    const fitted = size > MOST_TOGETHER ? undefined : schemaForModel(parameters);
    size += fitted?.size ?? 0;
    sent.set(name, {
      name,
      description: description.toWellFormed(),
      // A client may declare a tool with a schema that is too large, or that no provider accepts; it receives the
      // arguments as the model wrote them.
      parameters: fitted && 'schema' in fitted ? fitted.schema : { type: 'object', properties: {} },
    });
  }
  return [...sent.values()];
}
