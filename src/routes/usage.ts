import { z } from 'zod';
import { route } from '../http/route.ts';
import { Invalid } from '../schema/outcome.ts';
import { Cursor, Limit } from '../schema/paging.ts';
import { demand, may, nameOf, type Principal } from '../schema/principal.ts';
import { USAGE_PROPERTIES, UsageList, type UsageProperty } from '../schema/usage.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import type { RouteDeps } from './route-deps.ts';

/** Usage of runs, by user, agent, model and day (identity.md 5.5). */

const isProperty = (text: string): text is UsageProperty => USAGE_PROPERTIES.some((each) => each === text);

const By = z
  .string()
  .default('')
  .transform((text) => {
    const names = text === '' ? [] : text.split(',');
    const properties = names.filter(isProperty);
    if (properties.length < names.length || new Set(names).size < names.length)
      throw new Invalid(`by must be a list of different properties: ${USAGE_PROPERTIES.join(', ')}`);
    return properties;
  })
  .meta({
    description: `one item for each combination of these, separated by commas: ${USAGE_PROPERTIES.join(', ')}; without it one item with the sums`,
  });

const UsageQuery = z.object({
  by: By,
  since: z.iso.date().default('0000-01-01').meta({ description: 'first UTC day, such as 2026-11-01' }),
  until: z.iso.date().default('9999-12-31').meta({ description: 'last UTC day, inclusive' }),
  of_scope: z.string().optional().meta({ description: 'default: the scope of the caller; needs `admin`' }),
  limit: Limit,
  cursor: Cursor,
});
type UsageQuery = z.output<typeof UsageQuery>;

export const usageRoutes = ({ usage }: Pick<RouteDeps, 'usage'>) => [
  route.get('/v1/usage', {
    id: 'listUsage',
    summary: 'Usage by user, agent, model and day',
    description:
      'Runs, inferences, tokens and cost: those of the caller; with `read:all` or `observe` those of the scope. Runs that are not finished are included up to their last step. Days are kept as long as the setting `usage.retention_days` allows.',
    tag: 'identity',
    needs: 'principal',
    query: UsageQuery,
    responses: { 200: UsageList },
    async handle({ principal, query }) {
      const { by, since, until, limit, cursor } = query;
      const scope = scopeOf(principal, query);
      const user = seesAll(principal) ? undefined : nameOf(principal);
      const filters = { scope, by, since, until };
      const after = cursor === undefined ? undefined : placeOf(cursor, filters);
      const report = { scope, user, period: { since, until }, by, after, limit };
      const { items, next } = await usage(report);
      return { items, next_cursor: next === undefined ? null : encodeCursor(PREFIX, next, filters) };
    },
  }),
];

const PREFIX = 'usage_';

const seesAll = (principal: Principal): boolean =>
  may(principal, ['read', 'all']) || may(principal, ['observe']);

/** @throws Forbidden */
const scopeOf = (principal: Principal, { of_scope = principal.scope }: UsageQuery): string => {
  if (of_scope !== principal.scope) demand(principal, ['admin']);
  return of_scope;
};

/** @throws Invalid */
const placeOf = (cursor: string, filters: { by: readonly UsageProperty[] }): readonly string[] => {
  const place = decodeCursor(cursor, {
    prefix: PREFIX,
    kind: 'usage',
    filters,
    filtered: true,
    position: z.array(z.string()).length(filters.by.length),
  });
  // A bare number is refused because the query has filters.
  return 'position' in place ? place.position : [];
};
