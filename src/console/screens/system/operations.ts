import { isObject, type JsonObject } from '../../data/guard.ts';

/** The routes of the service, from its OpenAPI document. */
export type Operation = {
  /** For example `GET /v1/runs`. */
  name: string;
  method: string;
  path: string;
  summary: string;
  /** Parameters of the path and the query. */
  parameters: { name: string; place: 'path' | 'query' }[];
  hasBody: boolean;
};

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

const parametersIn = (value: unknown): Operation['parameters'] =>
  (Array.isArray(value) ? value : []).flatMap((parameter) =>
    isObject(parameter) &&
    typeof parameter.name === 'string' &&
    (parameter.in === 'path' || parameter.in === 'query')
      ? [{ name: parameter.name, place: parameter.in }]
      : [],
  );

const operationOf = (path: string, method: string, said: JsonObject): Operation => ({
  name: `${method.toUpperCase()} ${path}`,
  method: method.toUpperCase(),
  path,
  summary: typeof said.summary === 'string' ? said.summary : '',
  parameters: parametersIn(said.parameters),
  hasBody: said.requestBody !== undefined,
});

export const operationsIn = (document: unknown): Operation[] => {
  const paths = isObject(document) && isObject(document.paths) ? document.paths : {};
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = isObject(item) ? item[method] : undefined;
      return isObject(operation) ? [operationOf(path, method, operation)] : [];
    }),
  );
};

/** The address of a call. @param given values by parameter name */
export const addressOf = (
  { path, parameters }: Operation,
  given: Readonly<Record<string, string>>,
): string => {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(given[name] ?? ''));
  const query = new URLSearchParams();
  for (const { name, place } of parameters) {
    const value = given[name];
    if (place === 'query' && value) query.set(name, value);
  }
  const text = query.toString();
  return text === '' ? filled : `${filled}?${text}`;
};
