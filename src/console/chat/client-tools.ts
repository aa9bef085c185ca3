import { isObject, type JsonObject } from '../data/guard.ts';
import { parseJson } from '../data/json-text.ts';

/** Tools that this page declares with each message and executes, either manually or with a fixed result. */

export type ClientTool = {
  name: string;
  description: string;
  parameters: JsonObject;
  /** Undefined if the user enters the result. */
  fixed?: { output: unknown };
};

export type ToolForm = {
  name: string;
  description: string;
  parameters: string;
  isFixed: boolean;
  output: string;
};

export const EMPTY_FORM: ToolForm = {
  name: '',
  description: '',
  parameters: '{\n  "type": "object",\n  "properties": {}\n}',
  isFixed: false,
  output: '{\n  "ok": true\n}',
};

export const formOf = ({ name, description, parameters, fixed }: ClientTool): ToolForm => ({
  name,
  description,
  parameters: JSON.stringify(parameters, null, 2),
  isFixed: fixed !== undefined,
  output: fixed ? JSON.stringify(fixed.output, null, 2) : EMPTY_FORM.output,
});

export type ToolProblem = 'name' | 'taken' | 'schema' | 'output';

export type ToolErrors = Partial<Record<'name' | 'parameters' | 'output', ToolProblem>>;

const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** @param others names of the other tools */
export const readForm = (
  form: ToolForm,
  others: readonly string[],
): { tool: ClientTool } | { errors: ToolErrors } => {
  const name = form.name.trim();
  const parameters = parseJson(form.parameters);
  const output = form.isFixed ? parseJson(form.output) : { value: undefined };
  const schema = 'value' in parameters && isObject(parameters.value) ? parameters.value : undefined;
  const errors: ToolErrors = {
    ...(!NAME.test(name) && { name: 'name' }),
    ...(others.includes(name) && { name: 'taken' }),
    ...(!schema && { parameters: 'schema' }),
    ...('reason' in output && { output: 'output' }),
  };
  if (Object.keys(errors).length > 0 || !schema || 'reason' in output) return { errors };
  const tool = { name, description: form.description.trim(), parameters: schema };
  return { tool: form.isFixed ? { ...tool, fixed: { output: output.value } } : tool };
};

export const declared = (tools: readonly ClientTool[]): object[] =>
  tools.map(({ name, description, parameters }) => ({
    name,
    ...(description !== '' && { description }),
    parameters,
  }));

export const executors = (tools: readonly ClientTool[]): Record<string, () => unknown> =>
  Object.fromEntries(
    tools.flatMap(({ name, fixed }) => (fixed ? [[name, () => fixed.output] as const] : [])),
  );

/** Tools stored in this browser; unreadable ones are left out. */
export const storedTools = (stored: unknown): ClientTool[] =>
  (Array.isArray(stored) ? stored : []).flatMap((one): ClientTool[] => {
    if (!isObject(one) || typeof one.name !== 'string' || !isObject(one.parameters)) return [];
    const { name, parameters, fixed } = one;
    const description = typeof one.description === 'string' ? one.description : '';
    return [{ name, description, parameters, ...(isObject(fixed) && { fixed: { output: fixed.output } }) }];
  });
