import { useMutation } from '@tanstack/react-query';
import { anything } from '../data/guard.ts';
import { changed, type Namespace } from '../data/records.ts';
import { type Outgoing, send } from '../data/request.ts';
import { say } from '../i18n/locale.ts';
import feedbackTexts from './texts.json' with { type: 'json' };
import { type Toast, toast, toastError } from './toasts.ts';

/** Writes of the configuration. Each sends its request, then shows a toast, then refetches the affected data. */

export type Entity = Extract<keyof typeof feedbackTexts, `entity.${string}`>;

export type Write = Outgoing & {
  namespace: Namespace;
  entity: Entity;
  id: string;
  done: 'created' | 'saved' | 'deleted' | 'restored';
  action?: Toast['action'];
};

export const writeText = ({ entity, id, done }: Pick<Write, 'entity' | 'id' | 'done'>): string =>
  say(feedbackTexts, `write.${done}`, { entity: say(feedbackTexts, entity), id });

/**
 * @example
 * const write = useWrite();
 * write.mutate({ method: 'PUT', path: pathOf`/v1/config/models/${id}`, body, namespace: 'models', entity: 'entity.model', id, done: 'saved' });
 */
export const useWrite = (options: { quietErrors?: boolean } = {}) =>
  useMutation<unknown, Error, Write>({
    mutationFn: (write) => send(write, anything),
    onSuccess: (_, write) => {
      changed(write.namespace);
      toast('success', writeText(write), write.action ? { action: write.action } : {});
    },
    onError: (error) => {
      if (!options.quietErrors) toastError(error);
    },
  });
