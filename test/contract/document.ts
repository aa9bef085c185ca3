import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { spelledOut } from '../http/document.ts';

/** An OpenAPI document that can validate responses. */

const Response = z.object({ content: z.record(z.string(), z.unknown()).optional() });
const Operation = z.object({ operationId: z.string(), responses: z.record(z.string(), Response) });
type Operation = z.infer<typeof Operation>;

const Document = z.object({ paths: z.record(z.string(), z.record(z.string(), Operation)) });

export type Said = { method: string; path: string; status: number; type: string | null };

export type Contract = {
  operationIds: readonly string[];
  /** Undefined if the document does not have the path, or not with this method. */
  operationOf(method: string, path: string): string | undefined;
  /** The error in a response, or in the data of one frame of a stream. Undefined if there is none. */
  fault(said: Said, body: unknown): string | undefined;
};

type Found = { template: string; operation: Operation; pattern: RegExp; parameters: number };

const isText = (value: string): boolean => !value.startsWith('{');

/** Segments may contain more than a parameter, as in `/tasks/{id}:cancel`. */
const patternOf = (template: string): RegExp =>
  new RegExp(
    `^${template
      .split(/(\{\w+\})/)
      .map((part) => (isText(part) ? part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') : '([^/]+)'))
      .join('')}$`,
  );

const pointer = (...keys: readonly string[]): string =>
  keys.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');

export const contractOf = (document: unknown): Contract => {
  const whole = spelledOut(document);
  const { paths } = Document.parse(whole);
  // Formats are notes for readers. The service checks them in its own way.
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(whole, 'openapi');
  const found = new Map<string, Found[]>();
  for (const [template, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const parameters = template.split('{').length;
      const list = found.get(method) ?? [];
      list.push({ template, operation, pattern: patternOf(template), parameters });
      found.set(method, list);
    }
  }
  // Fixed paths come before those with parameters.
  for (const list of found.values()) list.sort((a, b) => a.parameters - b.parameters || longer(a, b));
  // Some clients encode the dollar sign that a path of the document contains.
  const find = (method: string, path: string): Found | undefined =>
    found.get(method)?.find(({ pattern }) => pattern.test(path.replaceAll('%24', '$')));
  const validator = ({ method, status }: Said, { template }: Found, type: string): ValidateFunction => {
    const place = pointer('paths', template, method, 'responses', String(status), 'content', type, 'schema');
    const validate = ajv.getSchema(`openapi#/${place}`);
    if (!validate) throw new Error(`no schema at ${place}`);
    return validate;
  };
  return {
    operationIds: [...found.values()].flatMap((list) => list.map(({ operation }) => operation.operationId)),
    operationOf: (method, path) => find(method, path)?.operation.operationId,
    fault(said, body) {
      const of = find(said.method, said.path);
      if (!of) return 'the document has no such operation';
      const response = of.operation.responses[said.status];
      if (!response) return `${of.operation.operationId} does not say that it answers ${said.status}`;
      const type = said.type?.split(';')[0]?.trim();
      const { content = {} } = response;
      if (type === undefined) return Object.keys(content).length > 0 ? 'there is no body' : undefined;
      // A range of types stands for bytes.
      if ('*/*' in content) return undefined;
      if (!(type in content)) {
        return `${of.operation.operationId} does not answer ${said.status} with ${type}`;
      }
      if (!/json|event-stream/.test(type)) return undefined;
      const validate = validator(said, of, type);
      if (validate(body)) return undefined;
      return `${of.operation.operationId}, ${said.status}: ${ajv.errorsText(validate.errors)}`;
    },
  };
};

const longer = (a: Found, b: Found): number => b.template.length - a.template.length;
