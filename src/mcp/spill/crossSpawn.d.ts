/** `spawn` that also finds what Windows starts through a shell, such as npx. The package has no types of its own. */
declare module 'cross-spawn' {
  const spawn: typeof import('node:child_process').spawn;
  export = spawn;
}
