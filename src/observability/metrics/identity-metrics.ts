import { createCounter, createReading, type Families } from './families.ts';

/** Metrics of credentials and identity providers. Issuers are labeled with their id in the settings. */
export const createIdentityMetrics = (families: Families) => {
  const fetches = createCounter(families, ['issuer', 'result'], {
    suffix: 'auth_jwks_fetches_total',
    help: 'Fetches of the keys of an issuer of access tokens; `failed`: the known keys stay in use',
  });
  const requests = createCounter(families, ['kind', 'result'], {
    suffix: 'auth_requests_total',
    help: 'Authenticated requests by kind of credential; `none`: no credential where one is needed, or of an unknown form; `forbidden`: the route needs another grant; `limited`: too many failures from one address',
  });
  const succeededAt = new Map<string, number>();
  createReading(
    families,
    ['issuer'],
    { suffix: 'auth_jwks_age_seconds', help: 'Time since the keys of an issuer were fetched' },
    () => [...succeededAt].map(([issuer, at]) => [(performance.now() - at) / 1000, issuer]),
  );
  return {
    requested: (kind: string, result: string) => requests.add(1, kind, result),
    keysFetched(issuer: string, result: 'ok' | 'failed') {
      fetches.add(1, issuer, result);
      if (result === 'ok') succeededAt.set(issuer, performance.now());
    },
  };
};
