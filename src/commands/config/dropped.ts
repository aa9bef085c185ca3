import type { Plan } from './plan.ts';
import type { RemoteService } from './service.ts';

/** Returns the secrets that the entries of an executed plan have lost (config.md 4.3), as `<ns>/<id> <field>`. */
export const droppedBy = async (
  service: Pick<RemoteService, 'droppedSecrets'>,
  { entries, overrides }: Plan,
): Promise<string[]> => {
  const written = new Set(
    [...entries, ...overrides].flatMap(({ action, namespace, id }) =>
      action === 'update' || action === 'override' ? `${namespace}/${id}` : [],
    ),
  );
  if (written.size === 0) return [];
  const found = await service.droppedSecrets();
  return found.flatMap(({ namespace, id, field }) =>
    written.has(`${namespace}/${id}`) ? `${namespace}/${id} ${field}` : [],
  );
};
