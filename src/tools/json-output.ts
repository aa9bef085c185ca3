import { DEEPEST, isTooDeep } from '../schema/nesting.ts';
import { ToolError, type ToolOutput } from './tool.ts';

/**
 * The output of a tool, if it can be sent and stored; else the failure that the model is told of. Types promise JSON,
 * and a tool may break the promise with what it got from elsewhere. Costs writing it as JSON once more.
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
