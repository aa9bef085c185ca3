import { type Outgoing, pathOf } from '../../data/request.ts';
import { Button } from '../../design/Button.tsx';
import { TextField } from '../../design/Inputs.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { EntryGuards } from '../../entry/EntryEditor.tsx';
import { type Opened, type Spec, textOf } from '../../entry/entry.ts';
import { useEntry } from '../../entry/use-entry.ts';
import { useOpening } from '../../entry/use-opened-entry.ts';
import { toast } from '../../feedback/toasts.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import type { Schema } from '../../schema-form/schema.ts';
import css from './Tools.module.css';
import texts from './texts.json' with { type: 'json' };
import { bytesOf, LONG, MOST_BYTES } from './tool.ts';

/** Overrides the description of a built-in tool that models receive. */

const TOOL = { namespace: 'tools', entity: 'entity.tool' } as const;

const overridesOf = ({ id }: Spec): string => pathOf`/v1/config/tools/${id}/overrides`;

const writeOf = (_: Opened, draft: Spec): Outgoing => ({
  method: 'PATCH',
  path: overridesOf(draft),
  body: { description: draft.description },
});

/** The size of a description, and its problem; undefined if the service would accept it. */
const useSize = (typed: string): { size: string; problem: string | undefined } => {
  const t = useTexts(texts);
  const format = useFormat();
  const bytes = bytesOf(typed);
  const numbers = { bytes: format.number(bytes), most: format.number(MOST_BYTES) };
  if (bytes > MOST_BYTES) return { size: t('bytes', numbers), problem: t('bytes.over', numbers) };
  const long = typed.length >= LONG ? [t('long')] : [];
  return {
    size: [t('bytes', numbers), ...long].join(' · '),
    problem: typed.trim() === '' ? t('empty') : undefined,
  };
};

const Form = ({ opened, schema }: { opened: Opened; schema: Schema }) => {
  const t = useTexts(texts);
  const form = useEntry(opened, { ...TOOL, schema, writeOf });
  const { draft, errors, isDirty, busy } = form;
  const { start, meta } = form.opened;
  const original = meta?.base?.description;
  const { size, problem } = useSize(textOf(draft.description));
  const revert = async (): Promise<void> => {
    const isReverted = await form.write({ method: 'DELETE', path: overridesOf(start) }, true);
    if (isReverted) toast('success', t('reverted', { id: start.id }));
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (isDirty && problem === undefined) void form.save();
      }}
    >
      <TextField
        label={t('override.label')}
        hint={t('override.hint')}
        error={(isDirty ? problem : undefined) ?? errors.get('description')}
        rows={4}
        value={textOf(draft.description)}
        onChange={(description) => form.set({ description })}
      />
      <div className="row end">
        <span className="quiet grow">{size}</span>
        {typeof original === 'string' && (
          <Button disabled={busy} title={original} onClick={() => void revert()}>
            {t('revert')}
          </Button>
        )}
        <Button type="submit" tone="primary" disabled={busy || !isDirty || problem !== undefined} data-save>
          {t('save')}
        </Button>
      </div>
      {typeof original === 'string' && (
        <details open>
          <summary>{t('original')}</summary>
          <p className={css.text}>{original}</p>
        </details>
      )}
      <EntryGuards form={form} />
    </form>
  );
};

export const Description = ({ id }: { id: string }) => {
  const { opened, schema, query } = useOpening(TOOL, id, undefined);
  if (opened && schema) return <Form opened={opened} schema={schema} />;
  return <Loaded query={query}>{() => null}</Loaded>;
};
