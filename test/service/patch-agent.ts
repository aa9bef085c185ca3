import type { Test } from 'tap';
import { ADMIN_TOKEN, type Client } from './troupe.ts';

/** Changes a test agent through its overrides. */
export const patchAgent = async (
  t: Test,
  { call }: Pick<Client, 'call'>,
  id: string,
  fields: object,
): Promise<void> => {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const { status, body } = await call('PATCH', `/v1/config/agents/${id}/overrides`, fields, headers);
  t.equal(status, 200, JSON.stringify(body));
};
