import { isObject, type JsonObject } from '../../schema/endpoint.ts';
import { Invalid } from '../../schema/outcome.ts';
import { headerProblem, keyProblem, problemIn, variableProblem } from '../../schema/sendable.ts';

/** Rejects invalid secrets of an entry without repeating them in the error. */

/** @throws Invalid */
export const checkToken = (place: string, auth: unknown): void => {
  const token = isObject(auth) ? auth.token : undefined;
  const problem = typeof token === 'string' ? keyProblem(token) : undefined;
  if (problem !== undefined) throw new Invalid(`${place} ${problem}`);
};

/** @throws Invalid */
export const checkHeaders = (place: string, headers: unknown): void =>
  checkEach(place, headers, headerProblem);

/** @throws Invalid */
export const checkVariables = (place: string, env: unknown): void => checkEach(place, env, variableProblem);

const checkEach = (place: string, values: unknown, rule: (value: string) => string | undefined): void => {
  const problem = isObject(values) ? problemIn(values, rule) : undefined;
  if (problem !== undefined) throw new Invalid(`${place}${problem}`);
};

/** Both views of a remote agent contain the token. @throws Invalid */
export const checkAgentTokens = ({ endpoint, backend }: JsonObject): void => {
  if (isObject(endpoint)) checkToken('remote endpoint auth token', endpoint.auth);
  if (isObject(backend) && isObject(backend.config))
    checkToken('remote endpoint auth token', backend.config.auth);
};
