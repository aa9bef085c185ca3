import { keepPreviousData, QueryClient, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { connection } from './connection.ts';
import { errorState, RequestError, statusOf } from './error.ts';
import type { Guard } from './guard.ts';
import { checked, type Outgoing, sendUnchecked } from './request.ts';
import { token } from './session.ts';

/**
 * A `Resource` describes a read of a screen: its route, the shape of the response, and the refusals that mean that the
 * feature is disabled. `useResource` caches it and shares it among all readers of the same route.
 */
export type Resource<T> = Pick<Outgoing, 'path' | 'query'> & {
  guard: Guard<T>;
  /** Statuses that mean that the feature is disabled, and the setting that enables it. */
  off?: { statuses: readonly number[]; setting?: string };
  /** Milliseconds between reads while the page is visible. */
  every?: number | undefined;
  /** Also polls while the page is hidden. */
  unseen?: boolean;
  /** Keeps the result of the previous query while the next one is being read. */
  keeps?: boolean;
  /** Replaces the single GET with another read; the guard checks its result. */
  read?: (signal: AbortSignal) => Promise<unknown>;
};

/** Reads are considered fresh for this time. */
const FRESH_MS = 30_000;

const isRetryable = (error: unknown): boolean => {
  if (!(error instanceof RequestError)) return false;
  if (error.failure.kind === 'network') return true;
  const status = statusOf(error);
  return status !== undefined && status >= 500 && status !== 503;
};

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (count, error) => count < 1 && isRetryable(error),
      retryDelay: 500,
      refetchOnWindowFocus: false,
      networkMode: 'always',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});

/** The path is part of the key, so that a write can invalidate all reads below a path. */
const keyOf = ({ path, query }: Pick<Outgoing, 'path' | 'query'>): readonly unknown[] => [path, query ?? {}];

/**
 * The cache holds the unchecked response, and each reader applies its own guard, because two readers of one route may
 * need different fields.
 */
export const optionsOf = <T>(resource: Resource<T>) => ({
  queryKey: keyOf(resource),
  queryFn: ({ signal }: { signal: AbortSignal }): Promise<unknown> =>
    resource.read?.(signal) ?? sendUnchecked({ path: resource.path, query: resource.query, signal }),
  select: (body: unknown): T => checked(resource, resource.guard, body),
  ...(resource.keeps && { placeholderData: keepPreviousData }),
  ...(resource.every !== undefined && {
    // A rejected client would be rejected again.
    refetchInterval: ({ state }: { state: { error: unknown } }) =>
      statusOf(state.error) === 401 ? false : (resource.every ?? false),
    refetchIntervalInBackground: resource.unseen ?? false,
    staleTime: resource.every / 2,
  }),
});

export type Loaded<T> = UseQueryResult<T, Error>;

export const useResource = <T>(resource: Resource<T>, enabled = true): Loaded<T> =>
  useQuery<unknown, Error, T>({ ...optionsOf(resource), enabled });

/** `useResource` that polls every `every` milliseconds while `mayChange` returns true. */
export const useWhile = <T>(
  resource: Resource<T>,
  mayChange: (read: T) => boolean,
  every: number,
): Loaded<T> => {
  const options = optionsOf(resource);
  const isGoingOn = ({ state: { data } }: { state: { data: unknown } }): boolean =>
    data !== undefined && mayChange(options.select(data));
  return useQuery<unknown, Error, T>({
    ...options,
    refetchInterval: (query) => (isGoingOn(query) && statusOf(query.state.error) !== 401 ? every : false),
    staleTime: (query) => (isGoingOn(query) ? every / 2 : FRESH_MS),
  });
};

/** For reads outside of components, such as those of the palette. */
export const readResource = async <T>(resource: Resource<T>): Promise<T> => {
  const { queryKey, queryFn, select } = optionsOf(resource);
  return select(await queryClient.fetchQuery({ queryKey, queryFn }));
};

/** How the screen presents the failed read. */
export const stateOf = <T>(resource: Resource<T>, error: unknown) =>
  errorState(error, resource.off?.statuses);

export const invalidate = (...paths: readonly string[]): void => {
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [path] }) =>
      typeof path === 'string' && paths.some((prefix) => path === prefix || path.startsWith(`${prefix}/`)),
  });
};

/** Removes everything that was read with the previous credential, and reads what the screen shows again. */
export const forgetReads = (): void => {
  void queryClient.cancelQueries();
  void queryClient.resetQueries();
};

/** Removing the token clears everything that was read with it; a new token refetches everything. */
export const watchToken = (): void => {
  token.subscribe((value) => {
    if (value === '') forgetReads();
    else void queryClient.invalidateQueries(undefined, { cancelRefetch: false });
  });
  let before = connection.get();
  connection.subscribe((now) => {
    if (before === 'disconnected' && now !== 'disconnected') void queryClient.invalidateQueries();
    before = now;
  });
};
