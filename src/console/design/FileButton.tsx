import { type ReactNode, useRef } from 'react';
import { Button } from './Button.tsx';

export const FileButton = (props: {
  /** Name of the file input. */
  label: string;
  accept: string;
  small?: boolean;
  isMain?: boolean;
  disabled?: boolean;
  onFile: (file: File) => void;
  children: ReactNode;
}) => {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        hidden
        type="file"
        accept={props.accept}
        aria-label={props.label}
        onChange={({ target }) => {
          const file = target.files?.[0];
          if (file) props.onFile(file);
          // The same file can be chosen again.
          target.value = '';
        }}
      />
      <Button
        {...(props.small && { small: true })}
        tone={props.isMain ? 'primary' : undefined}
        disabled={props.disabled}
        onClick={() => input.current?.click()}
      >
        {props.children}
      </Button>
    </>
  );
};
