import { DEEPEST, isTooDeep } from '../schema/nesting.ts';
import { ToolError, type ToolOutput } from './tool.ts';

/**
 * Returns the output of a tool if it can be sent and stored, otherwise the failure to report to the model. Types
 * promise JSON, but a tool may return foreign data that breaks the promise. Costs one additional serialization.
 */
export const jsonOutput = (output: ToolOutput): ToolOutput | ToolError => {
  const { data, metadata } = output;
  if (isTooDeep(data) || isTooDeep(metadata)) {
    return new ToolError('execution_failed', `the result nests deeper than ${DEEPEST} levels`);
  }
  try {
    JSON.stringify([data, metadata]);
  } catch (error) {
    return new ToolError('execution_failed', `the result is not JSON (${error})`);
  }
  return data === undefined ? { ...output, data: null } : output;
};
