import { isObject } from '../data/guard.ts';

export type Configuration = { backendUrl: string; title: string | undefined };

const textIn = (source: unknown, key: string): string | undefined => {
  const value = isObject(source) ? source[key] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** By default the console uses the service that serves it. */
const usualBackend = (): string => {
  const built = import.meta.env.VITE_BACKEND_URL;
  if (typeof built === 'string' && built !== '') return built;
  return import.meta.env.DEV ? 'http://127.0.0.1:38080' : location.origin;
};

export const readConfiguration = async (): Promise<Configuration> => {
  const loaded: unknown = await fetch('/console-config.json')
    .then((response) => (response.ok ? response.json() : undefined))
    .catch(() => undefined);
  return { backendUrl: textIn(loaded, 'backendUrl') ?? usualBackend(), title: textIn(loaded, 'title') };
};
