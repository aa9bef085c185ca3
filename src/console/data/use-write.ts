import { useMutation } from '@tanstack/react-query';
import { say } from '../i18n/locale.ts';
import { shellTexts } from '../shell/texts.ts';
import { type Toast, toast, toastError } from '../shell/toasts.ts';
import { anything } from './guard.ts';
import { changed, type Namespace } from './records.ts';
import { type Outgoing, send } from './request.ts';

/** Writes of the configuration: the request, then a toast with what was done, then what it changed is read again. */

export type Entity = Extract<keyof typeof shellTexts.en, `entity.${string}`>;

export type Write = Outgoing & {
  namespace: Namespace;
  entity: Entity;
  id: string;
  done: 'created' | 'saved' | 'deleted' | 'restored';
  /** On the toast. */
  action?: Toast['action'];
};

export const writeText = ({ entity, id, done }: Pick<Write, 'entity' | 'id' | 'done'>): string =>
  say(shellTexts, `write.${done}`, { entity: say(shellTexts, entity), id });

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
