# SPDX-License-Identifier: MIT
import sys
if sys.version_info<(3,9):
 import os
 w='this is Python %d.%d; ptycell needs 3.9 or later'%tuple(sys.version_info[:2])
 for n in range(30,8,-1):
  for d in os.environ.get('PATH','').split(':'):
   p=d+'/python3.%d'%n
   if os.access(p,1):sys.exit(w+', such as '+p)
 sys.exit(w)
import gc,posix,marshal,_imp,_frozen_importlib_external as x
gc.disable()
posix.set_inheritable(3,False)
b=bytearray()
def line():
 while b.find(10)<0:
  c=posix.read(3,4096)
  if not c:posix._exit(0)
  b.extend(c)
 n=b.find(10);s=b[:n].split();del b[:n+1];return s
def part():
 p=memoryview(bytearray(int(line()[1])));k=min(len(p),len(b));p[:k]=b[:k];del b[:k]
 while k<len(p):
  c=posix.readv(3,[p[k:]])
  if not c:posix._exit(0)
  k+=c
 return p
line();m=part();s=part();c=0
if m[:4]==x.MAGIC_NUMBER and m[4:12]==_imp.source_hash(3,m[12:]):
 try:c=marshal.loads(m[12:])
 except Exception:c=0
M=type(sys)('_ptycell')
M.received=b
M.__builtins__=dict(vars(__builtins__))
if not c:c=M.compiled=compile(s,'<ptycell driver>','exec',0,True,2)
m=s=0
exec(c,M.__dict__)
