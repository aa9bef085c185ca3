import { z } from 'zod';
import { RESPONSE_STATUSES } from '../../machines/response.ts';
import { route } from '../http/route.ts';
import { completionId, responseId } from '../protocols/openai/ids.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { JsonObject } from '../schema/json.ts';
import { NotFound } from '../schema/outcome.ts';
import type { Run } from '../schema/run.ts';
import type { StoredResponse } from '../schema/stored-response.ts';
import { RunId } from './parameters.ts';
import type { RouteDeps } from './route-deps.ts';

/** The requests of clients of OpenAI that started or continued a run, as their clients know them (openai.md 2.5). */

const RunLeg = z.object({
  id: z.string().meta({ description: 'id of the response or completion' }),
  object: z.enum(['response', 'chat.completion']),
  leg: z.int().meta({ description: 'number of the request among those of the run' }),
  status: z.enum(RESPONSE_STATUSES).optional().meta({ description: 'of a response' }),
  created_at: z.int().optional().meta({ description: 'of a response, in milliseconds since the epoch' }),
  ended_at: z.int().optional().meta({ description: 'of a response, in milliseconds since the epoch' }),
  request: JsonObject.optional().meta({
    description: 'parameters that are kept of the request; of completions only those of the last one',
  }),
});
type RunLeg = z.output<typeof RunLeg>;

const RunLegList = z
  .object({ items: z.array(RunLeg) })
  .meta({ id: 'RunLegList', description: 'The requests, oldest first. A run of another protocol has none.' });

export const runLegRoute = ({ access, store }: Pick<RouteDeps, 'access' | 'store'>) =>
  route.get('/v1/runs/:id/legs', {
    id: 'listRunLegs',
    summary: 'Requests of OpenAI clients that started or continued a run',
    description: 'Their ids, and what is kept of them.',
    tag: 'runs',
    needs: 'read',
    params: z.object({ id: RunId }),
    responses: { 200: RunLegList, 404: ErrorBody },
    handle({ principal, params }) {
      const { scope, id } = access.run(principal, params.id, 'read');
      const run = store.runs.get(scope, id);
      if (!run) throw new NotFound(`run not found: ${params.id}`);
      const responses = store.responses.ofRun(scope, run);
      return { items: [...responses.map(legOfResponse), ...completionsOf(run)] };
    },
  });

const legOfResponse = (row: StoredResponse): RunLeg => ({
  id: responseId(row),
  object: 'response',
  leg: row.leg,
  status: row.status,
  created_at: row.created_at,
  ...(row.ended_at !== undefined && { ended_at: row.ended_at }),
  // An object of JSON values, whose optional keys the type of JSON does not have.
  request: row.echo as JsonObject,
});

const completionsOf = ({ run_id, activation }: Run): RunLeg[] => {
  const { leg: last, request_echo } = activation?.options ?? {};
  if (!last) return [];
  return Array.from({ length: last.number + 1 }, (_, leg) => ({
    id: completionId({ run_id, leg }),
    object: 'chat.completion',
    leg,
    ...(leg === last.number && request_echo && { request: request_echo }),
  }));
};
