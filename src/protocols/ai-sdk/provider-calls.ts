import { callOfActivity, type ProviderCall } from '../../schema/provider-tool.ts';
import type { RunEventOf } from '../../schema/run-event.ts';
import { frame } from './frames.ts';

/**
 * Parts of tool calls that the model provider executes. They have a mark, because results of Troupe's own tools carry
 * `providerExecuted` as well.
 *
 * Guarantees: every part of a message has an end.
 * Cost: one or two frames for each change of a call.
 */

/** Names of the tools of shown calls without a result, by call id. */
export type ShownProviderCalls = Map<string, string>;

const MARK = { troupe: { executedBy: 'provider' } } as const;

/** Returns undefined for an activity of another kind. */
export const providerCall = (
  open: ShownProviderCalls,
  event: RunEventOf<'activity_snapshot'>,
): string | undefined => {
  const call = callOfActivity(event);
  if (!call) return undefined;
  if (call.status === 'running') open.set(call.id, call.tool);
  else open.delete(call.id);
  return framesOf(call);
};

const framesOf = ({ id: toolCallId, tool: toolName, status, input, output, error }: ProviderCall): string => {
  const call = { toolCallId, toolName, providerExecuted: true } as const;
  if (status === 'running' && !input) return frame('tool-input-start', call);
  const shown = frame('tool-input-available', { ...call, input: input ?? {}, providerMetadata: MARK });
  if (status === 'running') return shown;
  return status === 'completed'
    ? shown + frame('tool-output-available', { toolCallId, output: output ?? {}, providerExecuted: true })
    : shown + errorFrame(toolCallId, error ?? 'the call failed');
};

const errorFrame = (toolCallId: string, errorText: string): string =>
  frame('tool-output-error', { toolCallId, errorText, providerExecuted: true });

/** Ends open calls, which will not complete. */
export const providerCallsLost = (open: ShownProviderCalls, errorText: string): string => {
  const frames = [...open.keys()].map((id) => errorFrame(id, errorText)).join('');
  open.clear();
  return frames;
};

/** Creates the part of a stored message. */
export const providerCallPart = ({
  id: toolCallId,
  tool: toolName,
  status,
  input,
  output,
  error,
}: ProviderCall) => {
  const call = {
    type: `tool-${toolName}`,
    toolName,
    toolCallId,
    input: input ?? {},
    providerExecuted: true,
    callProviderMetadata: MARK,
  } as const;
  return status === 'completed'
    ? ({ ...call, state: 'output-available', output: output ?? {} } as const)
    : ({ ...call, state: 'output-error', errorText: error ?? 'the call has no result' } as const);
};

/** Returns whether a part of a client message is such a call, which a client cannot change. */
export const isProviderCallPart = (part: object): boolean => {
  const { callProviderMetadata: metadata }: { callProviderMetadata?: unknown } = part;
  if (typeof metadata !== 'object' || metadata === null || !('troupe' in metadata)) return false;
  const { troupe } = metadata;
  return typeof troupe === 'object' && troupe !== null && 'executedBy' in troupe;
};
