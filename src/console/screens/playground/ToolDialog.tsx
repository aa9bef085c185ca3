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
import { CheckField } from '../../design/Field.tsx';
import { InputField, TextField } from '../../design/Inputs.tsx';
import { useTexts } from '../../i18n/locale.ts';
import texts from './texts.json' with { type: 'json' };

type Fields = { form: ToolForm; errors: ToolErrors; change: (changed: Partial<ToolForm>) => void };

const ToolFields = ({ form, errors, change }: Fields) => {
  const t = useTexts(texts);
  const errorOf = (field: keyof ToolErrors): string | undefined => {
    const problem = errors[field];
    return problem && t(`tool.error.${problem}`);
  };
  const field = (name: Exclude<keyof ToolForm, 'isFixed'>) => ({
    value: form[name],
    onChange: (value: string) => change({ [name]: value }),
  });
  return (
    <>
      <InputField
        label={t('common.name')}
        error={errorOf('name')}
        required
        data-autofocus
        {...field('name')}
      />
      <InputField label={t('tool.description')} hint={t('tool.description.hint')} {...field('description')} />
      <TextField
        label={t('tool.schema')}
        error={errorOf('parameters')}
        isCode
        rows={8}
        {...field('parameters')}
      />
      <CheckField
        label={t('tool.answers')}
        checked={form.isFixed}
        onChange={(isFixed) => change({ isFixed })}
      />
      {form.isFixed && (
        <TextField label={t('tool.output')} error={errorOf('output')} isCode rows={4} {...field('output')} />
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
      <form className="stack" data-wide onSubmit={submit} noValidate>
        <ToolFields
          form={form}
          errors={errors}
          change={(changed) => {
            setErrors({});
            setForm({ ...form, ...changed });
          }}
        />
        <DialogActions>
          <Button onClick={props.onClose}>{t('common.cancel')}</Button>
          <Button type="submit" tone="primary">
            {t('tool.done')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
};
