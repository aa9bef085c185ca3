import { type ReactNode, useState } from 'react';
import { statusOf } from '../data/error.ts';
import type { JsonObject } from '../data/guard.ts';
import { redactText } from '../data/redact-text.ts';
import { toast } from '../feedback/toasts.ts';
import { RequestDialog } from '../fixtures/RequestDialog.tsx';
import { useTexts } from '../i18n/locale.ts';
import type { Texts, Values } from '../i18n/texts.ts';
import type { Words } from '../schema-form/context.ts';
import { wordsFrom } from '../schema-form/hints.ts';
import type { SchemaFormProps } from '../schema-form/SchemaForm.tsx';
import { GrantsField } from './GrantsField.tsx';

/** Where messages of the service belong. */

/** Beginnings of messages, and the field that each concerns. The first one that matches counts. */
export type Places = readonly (readonly [begin: RegExp, field: string])[];

/**
 * The problems of a form whose request was refused, by field; the empty field is the form itself.
 * @throws the error, if it is not about the content of the request
 */
const refusedFields = (error: unknown, places: Places): ReadonlyMap<string, string> => {
  const status = statusOf(error);
  if (!(error instanceof Error) || status === undefined || status === 401 || status >= 500) throw error;
  const [, field] = places.find(([begin]) => begin.test(error.message)) ?? ['', ''];
  return new Map([[field, redactText(error.message)]]);
};

const UI = { kind: { 'ui:widget': 'buttons' }, grants: { 'ui:widget': 'grants' } };
const WIDGETS = { grants: GrantsField };

/** A form about a user or a key in a dialog, which is sent as one request. */
export const AccessForm = <Of extends string>(
  props: Pick<SchemaFormProps, 'schema' | 'ui'> & {
    /** The dialog has the texts `<of>.title` and `<of>.confirm`. */
    texts: Texts<`${NoInfer<Of>}.${'title' | 'confirm'}`>;
    of: Of;
    values?: Values;
    /** The key of the text of a field, unless `words` has it. */
    keyOf: (place: string) => string;
    words?: Words;
    notice?: ReactNode;
    start: JsonObject;
    /** The fields that messages of the service concern. */
    places?: (draft: JsonObject) => Places;
    /** @returns the text that reports the success, or undefined if the dialog shows another content then */
    onSend: (draft: JsonObject) => Promise<string | undefined>;
    onClose: () => void;
  },
) => {
  const { texts, of, values, start, words, places, onSend } = props;
  const t = useTexts(texts);
  const [draft, setDraft] = useState(start);
  const own = wordsFrom(t, texts, props.keyOf);
  const submit = async (): Promise<ReadonlyMap<string, string> | undefined> => {
    try {
      const done = await onSend(draft);
      if (done === undefined) return new Map();
      toast('success', done);
      return undefined;
    } catch (error) {
      return refusedFields(error, places?.(draft) ?? []);
    }
  };
  return (
    <RequestDialog
      title={t(`${of}.title`, values)}
      submit={t(`${of}.confirm`, values)}
      notice={props.notice}
      schema={props.schema}
      ui={{ ...UI, ...props.ui }}
      widgets={WIDGETS}
      words={(place) => words?.(place) ?? own(place)}
      value={draft}
      onChange={setDraft}
      onSubmit={submit}
      onClose={props.onClose}
    />
  );
};
