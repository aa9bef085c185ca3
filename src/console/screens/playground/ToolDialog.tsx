import { type FormEvent, useState } from 'react';
import {
  type ClientTool,
  EMPTY_FORM,
  formOf,
  readForm,
  type ToolErrors,
  type ToolForm,
} from '../../chat/client-tools.ts';
import { Button } from '../../design/Button.tsx';
import { Dialog, DialogActions } from '../../design/Dialog.tsx';
import { CheckField, type Control, Field } from '../../design/Field.tsx';
import { useTexts } from '../../i18n/locale.ts';
import css from './Playground.module.css';
import { texts } from './texts.ts';

type Fields = {
  form: ToolForm;
  errors: ToolErrors;
  change: (changed: Partial<ToolForm>) => void;
};

const ToolFields = ({ form, errors, change }: Fields) => {
  const t = useTexts(texts);
  const errorOf = (field: keyof ToolErrors): string | undefined => {
    const problem = errors[field];
    return problem && t(`tool.error.${problem}`);
  };
  const json = (control: Control, field: 'parameters' | 'output') => (
    <textarea
      {...control}
      className={css.json}
      spellCheck={false}
      rows={field === 'parameters' ? 8 : 4}
      value={form[field]}
      onChange={(event) => change({ [field]: event.target.value })}
    />
  );
  return (
    <>
      <Field label={t('tool.name')} error={errorOf('name')} required>
        {(control) => (
          <input
            {...control}
            type="text"
            data-autofocus
            value={form.name}
            onChange={(event) => change({ name: event.target.value })}
          />
        )}
      </Field>
      <Field label={t('tool.description')} hint={t('tool.description.hint')}>
        {(control) => (
          <input
            {...control}
            type="text"
            value={form.description}
            onChange={(event) => change({ description: event.target.value })}
          />
        )}
      </Field>
      <Field label={t('tool.schema')} error={errorOf('parameters')}>
        {(control) => json(control, 'parameters')}
      </Field>
      <CheckField
        label={t('tool.answers')}
        checked={form.isFixed}
        onChange={(isFixed) => change({ isFixed })}
      />
      {form.isFixed && (
        <Field label={t('tool.output')} error={errorOf('output')}>
          {(control) => json(control, 'output')}
        </Field>
      )}
    </>
  );
};

export const ToolDialog = (props: {
  tool: ClientTool | undefined;
  others: readonly string[];
  onDone: (tool: ClientTool) => void;
  onClose: () => void;
}) => {
  const t = useTexts(texts);
  const [form, setForm] = useState<ToolForm>(() => (props.tool ? formOf(props.tool) : EMPTY_FORM));
  const [errors, setErrors] = useState<ToolErrors>({});
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const read = readForm(form, props.others);
    if ('errors' in read) setErrors(read.errors);
    else props.onDone(read.tool);
  };
  return (
    <Dialog title={t(props.tool ? 'tool.title' : 'tool.new')} size={560} onClose={props.onClose}>
      <form className={css.form} onSubmit={submit} noValidate>
        <ToolFields
          form={form}
          errors={errors}
          change={(changed) => {
            setErrors({});
            setForm({ ...form, ...changed });
          }}
        />
        <DialogActions>
          <Button onClick={props.onClose}>{t('cancel')}</Button>
          <Button type="submit" tone="primary">
            {t('tool.done')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
};
